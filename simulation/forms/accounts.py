"""Forms of accounts and people."""

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm, SetPasswordMixin, UsernameField
from django.contrib.auth.password_validation import password_validators_help_texts
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.validators import MaxLengthValidator

from simulation.forms.styled import Styled
from simulation.models import Corpus, User
from simulation.selectors.people import Reach

NAME_LENGTH = 150


def password_hint() -> str:
    """The rules for a password as one sentence: each of Django's begins with the same two words."""
    rules = [text.removeprefix("Your password ").rstrip(".") for text in password_validators_help_texts()]
    return f"It {', '.join(rules)}."


class LoginForm(Styled, AuthenticationForm):
    error_messages = {
        "invalid_login": "Name and password do not belong together. Both tell capitals from small letters.",
        "inactive": "This account is closed.",
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        name = self.fields["username"]
        name.label = "Name"
        # Django's form tells the browser alone; a longer name would not fit the table of failed logins.
        name.validators.append(
            MaxLengthValidator(NAME_LENGTH, f"A name has at most {NAME_LENGTH} characters.")
        )


class InviteForm(Styled, forms.Form):
    """Whom to invite as what; offers the places where the asking person may give roles."""

    email = forms.EmailField(
        label="Email address",
        help_text="For your list of invitations, and the new account’s address. Nothing is sent to it.",
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
    )
    role = forms.ChoiceField(label="Role")
    corpus = forms.ModelChoiceField(queryset=Corpus.objects.none(), label="Where", to_field_name="public_id")

    def __init__(self, *args: Any, reach: Reach, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        role, place = self.fields["role"], self.fields["corpus"]
        assert isinstance(role, forms.ChoiceField)
        assert isinstance(place, forms.ModelChoiceField)
        role.choices = [(choice.value, choice.value) for choice in reach.roles]
        place.queryset = Corpus.objects.filter(pk__in=[corpus.pk for corpus in reach.corpora])
        place.required = not reach.everywhere
        place.empty_label = "The whole installation" if reach.everywhere else None


class JoinForm(Styled, SetPasswordMixin, forms.Form):
    """Name and password of a new account."""

    username = UsernameField(
        label="Name",
        max_length=NAME_LENGTH,
        validators=[UnicodeUsernameValidator()],
        help_text="Others see it beside your work. It need not be your real one: letters, digits and @.+-_",
    )
    password1, password2 = SetPasswordMixin.create_password_fields("Password", "Password again")

    def __init__(self, *args: Any, email: str, **kwargs: Any) -> None:
        self.email = email
        super().__init__(*args, **kwargs)
        self.fields["password1"].help_text = password_hint()
        self.fields["password2"].help_text = ""

    def clean_username(self) -> str:
        username = self.cleaned_data["username"]
        if User.objects.filter(username__iexact=username).exists():
            raise forms.ValidationError("This name is taken. Choose another.")
        return username

    def clean(self) -> dict[str, Any]:
        self.validate_passwords()
        person = User(username=self.cleaned_data.get("username", ""), email=self.email)
        self.validate_password_for_user(person, "password1")
        return self.cleaned_data


class AccountForm(Styled, forms.Form):
    email = forms.EmailField(
        label="Email address",
        help_text="Only admins see it.",
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
    theme = forms.ChoiceField(label="Colours", choices=User.THEMES)


class ChangePasswordForm(Styled, PasswordChangeForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["old_password"].label = "Present password"
        self.fields["old_password"].widget.attrs.pop("autofocus", None)
        self.fields["new_password1"].label = "New password"
        self.fields["new_password1"].help_text = password_hint()
        self.fields["new_password2"].label = "New password again"
        self.fields["new_password2"].help_text = ""
