"""A shop that charges cards at a gateway over HTTP, where replies get lost, and asking twice charges twice.

The gateway keeps the nonce of each charge, and applies none at or past the deadline that travels with it. So
the sweep can tell a charge that was made from one that never will be.
"""

import http.client
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from falsework.runtime.invocation.answers import (
    Closed,
    Committed,
    NotCommitted,
    Outcome,
    ProbeAnswer,
    StoreUnavailable,
    Undecidable,
)
from falsework.runtime.invocation.instance import Instance
from falsework.runtime.invocation.use import ConstituentRefused
from falsework.runtime.trail import Data

KIND = "payment"
CHARGED = "payment.charged"
GATEWAY_VARIABLE = "FALSEWORK_GATEWAY"
"""The environment's variable that holds the gateway's address."""


@dataclass(frozen=True, slots=True)
class Charge:
    """A charge as the gateway lists it."""

    charge_id: str
    nonce: str
    amount: int


class Gateway:
    """The gateway's two calls. Whatever is neither its answer nor its refusal is raised as it comes."""

    def __init__(self, address: str, timeout: float = 10.0) -> None:
        self._host = urlsplit(address).netloc
        self._timeout = timeout

    def charge(self, order: str, amount: int, nonce: str, deadline: int | None) -> Charge:
        """The card is charged; ConstituentRefused where the gateway says that it is not."""
        body = {"order": order, "amount": amount, "nonce": nonce, "deadline": deadline}
        status, answer = self._asked("POST", "/charges", json.dumps(body))
        if 400 <= status < 500:
            raise ConstituentRefused(str(answer["code"]), str(answer["reason"]))
        if status != 201:
            raise http.client.HTTPException(f"the gateway answered {status}")
        return Charge(str(answer["charge_id"]), nonce, amount)

    def charges(self, order: str) -> list[Charge]:
        """Every charge of the order."""
        status, answer = self._asked("GET", f"/charges?order={quote(order)}", None)
        if status != 200:
            raise http.client.HTTPException(f"the gateway answered {status}")
        found = answer["charges"]
        if not isinstance(found, list):
            raise http.client.HTTPException(f"the gateway listed {found!r}")
        return [Charge(str(each["charge_id"]), str(each["nonce"]), int(each["amount"])) for each in found]

    def _asked(self, method: str, path: str, body: str | None) -> tuple[int, dict[str, object]]:
        connection = http.client.HTTPConnection(self._host, timeout=self._timeout)
        try:
            connection.request(method, path, body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            answer = json.loads(response.read() or b"{}")
            if not isinstance(answer, dict):
                raise http.client.HTTPException(f"the gateway answered {answer!r}")
            return response.status, answer
        finally:
            connection.close()


class Shop:
    """The adopter: one order, one charge."""

    def __init__(self, instance: Instance, gateway: Gateway, nonces: Callable[[], str]) -> None:
        self.instance = instance
        self.gateway = gateway
        self.nonces = nonces

    def pay(self, order: str, amount: int, clerk: str, credential: str) -> Closed:
        """The order is paid and accounted for; what else may come of it is raised with its code."""
        nonce = self.nonces()
        data: Data = {"nonce": nonce, "amount": amount}
        with self.instance.invocation(KIND, order, clerk, credential, data) as act:
            return act.commit(lambda: outcome(self.gateway.charge(order, amount, nonce, act.deadline)))


def outcome(charge: Charge) -> Outcome:
    """The outcome as both writers give it: nothing that the gateway could not tell again."""
    return Outcome(CHARGED, {"charge_id": charge.charge_id, "amount": charge.amount})


def probed(gateway: Gateway, order: str, payload: Mapping[str, object]) -> ProbeAnswer:
    """What the gateway says of the intent, matched by the nonce alone."""
    try:
        found = [charge for charge in gateway.charges(order) if charge.nonce == payload["nonce"]]
    except (OSError, http.client.HTTPException, ValueError, KeyError) as problem:
        return StoreUnavailable(f"{type(problem).__name__}: {problem}")
    match found:
        case []:
            return NotCommitted()
        case [charge]:
            recovered = outcome(charge)
            return Committed(recovered.action_ref, recovered.data)
    return Undecidable(tuple(charge.charge_id for charge in found))


def probe(act_key: str, payload: Mapping[str, object]) -> ProbeAnswer:
    """The probe that the deployment file names, at the gateway that the environment names."""
    return probed(Gateway(os.environ[GATEWAY_VARIABLE]), act_key, payload)
