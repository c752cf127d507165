import { expect, test } from "vitest";
import { FATES, getScriptedFate, scriptedOutcome } from "#server/mail/transport/scripted";

test.each<[address: string, kinds: string[]]>([
  ["delivered@backstamp.test", ["accepted", "accepted"]],
  ["bounced@backstamp.test", ["rejected", "rejected"]],
  ["complained@backstamp.test", ["accepted", "accepted"]],
  ["deferred@backstamp.test", ["deferred", "deferred", "accepted", "accepted"]],
  ["slow@backstamp.test", ["accepted"]],
  ["unknown@backstamp.test", ["unknown", "accepted"]],
  ["suppressed@backstamp.test", ["rejected"]],
  ["whoever@backstamp.test", ["rejected"]],
])(
  "%s has its simulated outcome at each attempt, with any label and case-insensitively",
  (address, kinds) => {
    const forms = [
      address,
      address.replace("@", "+label@"),
      address.replace("@", "+a+b@"),
      address.toUpperCase(),
    ];
    for (const form of forms)
      expect(kinds.map((_, index) => scriptedOutcome(form, index + 1).outcome.kind)).toEqual(kinds);
  },
);

test("only complained@ causes a complaint, only slow@ is delayed, and only suppressed@ is suppressed", () => {
  for (const name of Object.keys(FATES)) {
    const answer = scriptedOutcome(`${name}@backstamp.test`, 1);
    expect(answer.complaintAfterMs !== null).toBe(name === "complained");
    expect(answer.afterMs > 0).toBe(name === "slow");
    expect(answer.isSuppressed).toBe(name === "suppressed");
  }
});

test("names of object properties have no simulated outcome", () => {
  for (const name of ["constructor", "__proto__", "toString"])
    expect(getScriptedFate(`${name}@backstamp.test`)).toBe(FATES["no-such-user"]);
});
