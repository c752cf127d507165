import { expect, test } from "vitest";
import { FATES, scriptedFate, scriptedOutcome } from "#server/mail/transport/scripted";

test.each<[address: string, kinds: string[]]>([
  ["delivered@posthorn.test", ["accepted", "accepted"]],
  ["bounced@posthorn.test", ["rejected", "rejected"]],
  ["complained@posthorn.test", ["accepted", "accepted"]],
  ["deferred@posthorn.test", ["deferred", "deferred", "accepted", "accepted"]],
  ["slow@posthorn.test", ["accepted"]],
  ["unknown@posthorn.test", ["unknown", "accepted"]],
  ["suppressed@posthorn.test", ["rejected"]],
  ["whoever@posthorn.test", ["rejected"]],
])("%s meets its fate at each attempt, with any label and in any letter case", (address, kinds) => {
  const forms = [
    address,
    address.replace("@", "+label@"),
    address.replace("@", "+a+b@"),
    address.toUpperCase(),
  ];
  for (const form of forms)
    expect(kinds.map((_, index) => scriptedOutcome(form, index + 1).outcome.kind)).toEqual(kinds);
});

test("a bounce has the reply of a missing mailbox, an unknown none", () => {
  expect(scriptedOutcome("bounced@posthorn.test", 1).outcome.reply).toMatchObject({
    code: 550,
    enhanced: "5.1.1",
  });
  expect(scriptedOutcome("nobody@posthorn.test", 1).outcome.reply).toMatchObject({
    code: 550,
    enhanced: "5.1.1",
  });
  expect(scriptedOutcome("unknown@posthorn.test", 1).outcome.reply).toBeNull();
});

test("only complained is followed by a complaint, only slow takes time, only suppressed is set aside", () => {
  for (const fate of Object.values(FATES)) {
    const answer = scriptedOutcome(`${fate.name}@posthorn.test`, 1);
    expect(answer.followedBy).toBe(fate.name === "complained" ? "complained" : undefined);
    expect(answer.afterMs > 0).toBe(fate.name === "slow");
    expect(fate.suppressed).toBe(fate.name === "suppressed");
  }
});

test.each([
  "delivered@example.com",
  "delivered@sub.posthorn.test",
  "delivered@posthorn.test.example",
  "posthorn.test",
  "",
])("%j has no scripted fate", (address) => {
  expect(scriptedFate(address)).toBeNull();
});

test("names of object members are no fates", () => {
  for (const name of ["constructor", "__proto__", "toString"])
    expect(scriptedFate(`${name}@posthorn.test`)?.name).toBe("no-such-user");
});
