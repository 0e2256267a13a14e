import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "synthpai_web.settings")

from synthpai_web.start import attach_servers

attach_servers()
application = get_wsgi_application()
