"""Addresses of accounts, people, corpora, profiles, runs and providers."""

from django.urls import path

from simulation.views import accounts, browse, leaving, people, providers, run_control, run_start, runs

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
    path("people/<str:public_id>/deactivate/", leaving.deactivate, name="person_deactivate"),
    path("people/<str:public_id>/reactivate/", leaving.reactivate, name="person_reactivate"),
    path("people/<str:public_id>/erase/", leaving.erase, name="person_erase"),
    path("corpora/", browse.corpora, name="corpora"),
    path("corpora/<slug:corpus_id>/profiles/", browse.profile_list, name="profiles"),
    path("corpora/<slug:corpus_id>/runs/new/", run_start.new, name="run_new"),
    path("profiles/<slug:profile_id>/", browse.profile, name="profile"),
    path("runs/", runs.run_list, name="runs"),
    path("runs/new/", run_start.choose, name="run_choose"),
    path("runs/<slug:run_id>/", runs.run, name="run"),
    path("runs/<slug:run_id>/threads/<slug:index>/", runs.run, name="run_thread"),
    path("runs/<slug:run_id>/events/", runs.events, name="run_events"),
    path("runs/<slug:run_id>/calls/<slug:call_id>/", runs.call, name="run_call"),
    path("runs/<slug:run_id>/control/", run_control.control, name="run_control"),
    path("runs/<slug:run_id>/caps/", run_control.caps, name="run_caps"),
    path("providers/", providers.provider_list, name="providers"),
    path("providers/new/", providers.provider_new, name="provider_new"),
]
