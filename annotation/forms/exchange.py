"""What the import and export pages ask for."""

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile


class ImportForm(forms.Form):
    file = forms.FileField(
        label="File",
        help_text="profiles.json, a thread tree or many, rows in the SynthPAI or the plain layout (JSONL),"
        " plain or .gz; or a table (CSV, Parquet, other JSONL), of whose columns the next page asks.",
        widget=forms.ClearableFileInput(attrs={"class": "field"}),
    )
    dry_run = forms.BooleanField(label="Only look: report what would change", required=False)

    def clean_file(self) -> UploadedFile:
        file: UploadedFile = self.cleaned_data["file"]
        megabytes = (file.size or 0) / 1024 / 1024
        if megabytes > settings.UPLOAD_LIMIT_MB:
            raise forms.ValidationError(
                f"The file has {megabytes:.0f} MB; at most {settings.UPLOAD_LIMIT_MB} MB are taken."
                " Split it, or pack it with gzip."
            )
        return file


class ExportForm(forms.Form):
    LAYOUTS = [
        ("synthpai", "SynthPAI layout (JSONL): as published, labels under “reviews”"),
        ("jsonl", "Plain JSONL: one comment a line, every field"),
        ("csv", "CSV: one row a comment, reviewer and attribute"),
    ]
    format = forms.ChoiceField(choices=LAYOUTS, initial="synthpai", widget=forms.RadioSelect)
    reviewed_only = forms.BooleanField(label="Only comments that somebody reviewed here", required=False)
