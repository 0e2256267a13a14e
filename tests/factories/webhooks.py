"""The smallest valid webhook, and one that leads to a receiver."""

import factory
from django.utils import timezone
from factory.django import DjangoModelFactory

from simulation.domain.webhooks import Event
from simulation.models import Delivery, Webhook
from tests.factories.simulation import CorpusFactory, UserFactory


class WebhookFactory(DjangoModelFactory):
    """It wants everything."""

    class Meta:
        model = Webhook

    corpus = factory.SubFactory(CorpusFactory)
    url = factory.Sequence(lambda number: f"https://hooks.example.org/{number}")
    events = factory.LazyFunction(lambda: [event.value for event in Event])
    created_by = factory.SubFactory(UserFactory)


class DeliveryFactory(DjangoModelFactory):
    """A message that waits."""

    class Meta:
        model = Delivery

    webhook = factory.SubFactory(WebhookFactory)
    event = Event.RUN_ENDED.value
    about = factory.Sequence(lambda number: f"run {number}")
    payload = factory.LazyFunction(dict)
    due_at = factory.LazyFunction(timezone.now)
