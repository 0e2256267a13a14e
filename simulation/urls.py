"""Addresses of accounts, people, corpora and profiles."""

from django.urls import path

from simulation.views import accounts, browse, people

urlpatterns = [
    path("login/", accounts.sign_in, name="login"),
    path("logout/", accounts.sign_out, name="logout"),
    path("join/<str:token>/", accounts.join, name="join"),
    path("account/", accounts.account, name="account"),
    path("account/password/", accounts.password, name="password"),
    path("people/", people.people_list, name="people"),
    path("people/invite/", people.invite, name="invite"),
    path("people/audit/", people.audit_list, name="audit"),
    path("people/invitations/<str:public_id>/revoke/", people.invitation_revoke, name="invitation_revoke"),
    path("people/<str:public_id>/roles/", people.membership_grant, name="membership_grant"),
    path("people/<str:public_id>/roles/revoke/", people.membership_revoke, name="membership_revoke"),
    path("corpora/", browse.corpora, name="corpora"),
    path("corpora/<slug:corpus_id>/profiles/", browse.profile_list, name="profiles"),
    path("profiles/<slug:profile_id>/", browse.profile, name="profile"),
]
