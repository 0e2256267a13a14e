"""prices: what models cost, and setting it, from the command line."""

import json
from argparse import ArgumentParser
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from simulation.models import Price, Provider
from simulation.selectors import price_list
from simulation.services import prices
from simulation.services.terminal import STOPPED, USAGE


class Command(BaseCommand):
    help = (
        "Lists what each model costs in US dollars per million tokens, those without a price first; or sets a"
        " price. Exit status: 0 done, 1 the price cannot be so, 2 wrong usage."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--set", nargs=2, metavar=("PROVIDER", "MODEL"), help="a new price, from now on")
        parser.add_argument("--input", type=amount, metavar="USD", help="per million tokens; with --set")
        parser.add_argument("--output", type=amount, metavar="USD", help="per million tokens; with --set")
        parser.add_argument(
            "--cached",
            type=amount,
            metavar="USD",
            help="input read from the provider's cache; default: as input",
        )
        parser.add_argument("--note", default="", help="where the price is from")
        parser.add_argument("--json", action="store_true", help="report in JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        rows = [_set(options)] if options["set"] else [_said(row) for row in price_list.rows(timezone.now())]
        if options["json"]:
            self.stdout.write(json.dumps(rows, ensure_ascii=False, indent=1))
            return
        for row in rows:
            cached = f", {row['cached']} cached" if row["cached"] is not None else ""
            costs = f"{row['input']} in, {row['output']} out{cached}" if row["source"] else "no price"
            self.stdout.write(
                f"{row['provider']}: {row['model']}: {costs}" + f" ({row['source']})" * bool(row["source"])
            )


def amount(text: str) -> Decimal:
    """A number of dollars; what is no number is wrong usage."""
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError(text) from None


def _set(options: dict[str, Any]) -> dict[str, Any]:
    name, model = options["set"]
    provider = Provider.objects.filter(name=name).first()
    if provider is None:
        known = ", ".join(Provider.objects.values_list("name", flat=True))
        raise CommandError(f"There is no provider {name!r}; there are: {known or 'none'}.", returncode=USAGE)
    if options["input"] is None or options["output"] is None:
        raise CommandError(
            "--set needs --input and --output, in dollars per million tokens.", returncode=USAGE
        )
    try:
        price = prices.set_price(
            by=None,
            provider=provider,
            model=model,
            note=options["note"],
            **{key: options[key] for key in ("input", "output", "cached")},
        )
    except ValidationError as problems:
        said = "; ".join(f"{field}: {' '.join(words)}" for field, words in problems.message_dict.items())
        raise CommandError(f"The price was not set. {said}", returncode=STOPPED) from None
    return _of_price(price)


def _of_price(price: Price) -> dict[str, Any]:
    return {
        "provider": price.provider.name,
        "model": price.model,
        **_amounts(price.unit),
        "source": price.source,
        "valid_from": price.valid_from.isoformat(),
        "note": price.note,
    }


def _said(row: price_list.PriceRow) -> dict[str, Any]:
    if row.current is not None:
        return _of_price(row.current)
    known: dict[str, Any] = {"provider": row.provider.name, "model": row.model}
    if row.listed is None:
        return (
            known
            | {"input": None, "output": None, "cached": None, "source": "", "valid_from": None}
            | {"note": f"named by {row.named_by}" if row.named_by else ""}
        )
    source = Price.BUILT_IN if row.listed.unit.is_free else Price.PACKAGE
    return known | _amounts(row.listed.unit) | {"source": source, "valid_from": None, "note": row.listed.note}


def _amounts(unit: Any) -> dict[str, str | None]:
    amounts = {"input": unit.input, "output": unit.output, "cached": unit.cached}
    return {name: None if one is None else f"{Decimal(one).normalize():f}" for name, one in amounts.items()}
