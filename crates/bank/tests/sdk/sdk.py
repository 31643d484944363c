"""Pays, captures, cancels and refunds at a bank with YooKassa's own SDK, a client that is not ours.

Takes the bank's base URL. Prints one line for each check and ends non-zero if any failed. Each run uses fresh keys,
so that it can be repeated against the same ledger.
"""

import json
import sys
import urllib.request
import uuid

from yookassa import Configuration, Payment, Refund
from yookassa.domain.exceptions import BadRequestError, NotFoundError, UnauthorizedError

BASE = sys.argv[1].rstrip("/")
ORDER = f"sdk-{uuid.uuid4()}"
failures = 0


def check(what, actual, expected):
    global failures
    if actual == expected:
        print(f"ok    {what}")
    else:
        failures += 1
        print(f"FAIL  {what}: {actual!r} instead of {expected!r}")


def raises(what, error, act):
    try:
        act()
    except error as raised:
        check(what, raised.content["type"], "error")
    else:
        check(what, "no error", error.__name__)


def token(number):
    card = {"number": number, "expiry_month": "12", "expiry_year": "2035", "cvc": "123"}
    request = urllib.request.Request(
        f"{BASE}/v3/tokens", json.dumps({"card": card}).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["token"]


def order(number=None, value="1500.00", capture=True):
    params = {
        "amount": {"value": value, "currency": "RUB"},
        "capture": capture,
        "confirmation": {"type": "redirect", "return_url": "https://shop.example/back"},
        "description": "Order of the SDK",
        "metadata": {"order_id": ORDER},
    }
    if number:
        params["payment_token"] = token(number)
    return params


def payments():
    params, key = order("5555555555554444"), str(uuid.uuid4())
    paid = Payment.create(params, key)
    check("create: status", paid.status, "succeeded")
    check("create: paid", paid.paid, True)
    check("create: amount", (str(paid.amount.value), paid.amount.currency), ("1500.00", "RUB"))
    check("create: card", (paid.payment_method.type, paid.payment_method.card.last4), ("bank_card", "4444"))
    check("create: metadata", paid.metadata, {"order_id": ORDER, "cms_name": "yookassa_sdk_python"})
    check("create: test", paid.test, True)

    check("same key: same object", Payment.create(params, key).id, paid.id)
    other = dict(params, amount={"value": "2.00", "currency": "RUB"})
    raises("same key, other sum: refused", BadRequestError, lambda: Payment.create(other, key))
    check("get: equal to what create said", dict(Payment.find_one(paid.id)), dict(paid))
    raises("get: unknown id", NotFoundError, lambda: Payment.find_one(str(uuid.uuid4())))

    declined = Payment.create(order("5555555555554600"))
    check("decline: status", declined.status, "canceled")
    check("decline: reason", declined.cancellation_details.reason, "insufficient_funds")
    raises("wrong sum", BadRequestError, lambda: Payment.create(order("5555555555554444", value="10000000000000")))
    return paid


def confirmation():
    for name, params in [("3-D Secure", order("5555555555554477")), ("redirect", order())]:
        pending = Payment.create(params)
        check(f"{name}: status", (pending.status, pending.paid), ("pending", False))
        url = pending.confirmation.confirmation_url
        check(f"{name}: link", url.endswith(f"/confirm/{pending.id}"), True)
        raises(f"{name}: pending cannot be canceled", BadRequestError, lambda: Payment.cancel(pending.id))


def holds():
    held = Payment.create(order("4111111111111111", capture=False))
    check("hold: status", (held.status, held.paid), ("waiting_for_capture", True))
    check("hold: ends", held.expires_at > held.created_at, True)
    key = str(uuid.uuid4())
    taken = Payment.capture(held.id, None, key)
    check("capture: status", taken.status, "succeeded")
    check("capture: same key", dict(Payment.capture(held.id, None, key)), dict(taken))
    raises("capture: another key", BadRequestError, lambda: Payment.capture(held.id))

    part = Payment.create(order("2200000000000004", capture=False))
    taken = Payment.capture(part.id, {"amount": {"value": "400.00", "currency": "RUB"}})
    check("capture in part", (taken.status, str(taken.amount.value)), ("succeeded", "400.00"))

    held, key = Payment.create(order("5555555555554444", capture=False)), str(uuid.uuid4())
    gone = Payment.cancel(held.id, key)
    check("cancel: status", (gone.status, gone.paid), ("canceled", False))
    check("cancel: reason", gone.cancellation_details.reason, "canceled_by_merchant")
    check("cancel: same key", Payment.cancel(held.id, key).status, "canceled")
    raises("cancel: another key", BadRequestError, lambda: Payment.cancel(held.id))


def refunds(paid):
    params = {"payment_id": paid.id, "amount": {"value": "1000.00", "currency": "RUB"}, "description": "Too large"}
    key = str(uuid.uuid4())
    refund = Refund.create(params, key)
    check("refund: status", (refund.status, refund.payment_id), ("succeeded", paid.id))
    check("refund: same key", Refund.create(params, key).id, refund.id)
    raises("refund: beyond the sum", BadRequestError, lambda: Refund.create(params))
    check("refund: get", dict(Refund.find_one(refund.id)), dict(refund))
    listed = Refund.list({"payment_id": paid.id})
    check("refund: list", [item.id for item in listed.items], [refund.id])
    check("refund: seen on the payment", str(Payment.find_one(paid.id).refunded_amount.value), "1000.00")


def listing(since):
    found, params = [], {"limit": 2, "created_at.gte": since}
    while True:
        page = Payment.list(params)
        found += [item for item in page.items if item.metadata.get("order_id") == ORDER]
        if not page.next_cursor:
            break
        params["cursor"] = page.next_cursor
    check("list: all of this run, over several pages", len(found), 7)
    check("list: newest first", sorted((item.created_at for item in found), reverse=True), [item.created_at for item in found])
    check("list: limit", len(Payment.list({"limit": 1}).items), 1)
    mine = [item for item in Payment.list({"status": "pending", "limit": 100}).items if item.metadata.get("order_id") == ORDER]
    check("list: by status", len(mine), 2)


def credentials():
    Configuration.configure("100500", "wrong", api_url=f"{BASE}/v3")
    raises("wrong secret", UnauthorizedError, lambda: Payment.list())


Configuration.configure("100500", "test_demo", api_url=f"{BASE}/v3")
first = payments()
confirmation()
holds()
refunds(first)
listing(first.created_at)
credentials()
print(f"{failures} failed" if failures else "all passed")
sys.exit(1 if failures else 0)
