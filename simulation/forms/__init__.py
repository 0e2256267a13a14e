from simulation.forms.accounts import AccountForm, ChangePasswordForm, InviteForm, JoinForm, LoginForm
from simulation.forms.providers import ProviderForm
from simulation.forms.runs import CapsForm
from simulation.forms.simulation import SimulationForm

__all__ = [
    "AccountForm",
    "CapsForm",
    "ChangePasswordForm",
    "InviteForm",
    "JoinForm",
    "LoginForm",
    "ProviderForm",
    "SimulationForm",
]
