import { expect, test } from "vitest";
import { closeAfterTest } from "../support/fixtures";
import { EHLO_PLAIN, type SmtpTestServer, startSmtpTestServer } from "../support/servers/smtp-test-server";
import { kinds, message, parsed, relayTo, watch } from "./relay-world";

const EHLO_DSN = "250-peer.test\r\n250-DSN\r\n250 8BITMIME";
const own = { returnPath: "bounce-token@bounces.example.com", wantsReports: true } as const;

async function sendTo(
  ehlo: string,
  sent: Parameters<typeof message>[0],
  recipients = ["b@example.org"],
): Promise<SmtpTestServer> {
  const peer = closeAfterTest(await startSmtpTestServer({ ehlo }));
  const relay = closeAfterTest(relayTo(peer));
  const outcomes = await relay.deliver(message(sent), parsed(recipients), watch());
  expect(new Set(kinds(outcomes))).toEqual(new Set(["accepted"]));
  return peer;
}

const envelopeOf = ({ commands }: SmtpTestServer) => commands.filter((line) => /^(MAIL|RCPT)/.test(line));

test("on a server with DSN, reports of failures and delays are requested with the email's id and the original recipient", async () => {
  const peer = await sendTo(EHLO_DSN, { ...own, id: "0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d2" });
  expect(envelopeOf(peer)).toEqual([
    "MAIL FROM:<bounce-token@bounces.example.com> RET=HDRS ENVID=0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d2",
    "RCPT TO:<b@example.org> NOTIFY=FAILURE,DELAY ORCPT=rfc822;b@example.org",
  ]);
});

test("no report is requested if DSN is not offered, or the return path is not ours or is shared", async () => {
  const plain = await sendTo(EHLO_PLAIN, own);
  const sendersOwn = await sendTo(EHLO_DSN, {});
  const several = await sendTo(EHLO_DSN, own, ["b@example.org", "c@example.org"]);
  for (const peer of [plain, sendersOwn, several])
    expect(envelopeOf(peer).join("\n")).not.toMatch(/RET=|ENVID=|NOTIFY=|ORCPT=/);
});

test("an address and an id are encoded as xtext, so they cannot end the command or add to it", async () => {
  const peer = await sendTo(EHLO_DSN, { ...own, id: "id=+ \r\nRSET\u00e9" }, ["a+b=c@example.org"]);
  expect(envelopeOf(peer)).toEqual([
    "MAIL FROM:<bounce-token@bounces.example.com> RET=HDRS ENVID=id+3D+2B+20+0D+0ARSET+C3+A9",
    "RCPT TO:<a+b=c@example.org> NOTIFY=FAILURE,DELAY ORCPT=rfc822;a+2Bb+3Dc@example.org",
  ]);
  expect(peer.commands).not.toContain("RSET");
});

test("a non-ASCII address is sent without ORCPT", async () => {
  const peer = await sendTo(
    "250-peer.test\r\n250-DSN\r\n250-SMTPUTF8\r\n250 8BITMIME",
    { ...own, smtpUtf8: true },
    ["\u00e9@example.org"],
  );
  expect(envelopeOf(peer)[1]).toMatch(/NOTIFY=FAILURE,DELAY$/);
});
