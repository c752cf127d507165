import { describe, expect, test } from "vitest";
import { parseSesEvents } from "#server/mail/callbacks/ses";

const kindsOf = (reports: { kind: string }[]) => reports.map(({ kind }) => kind);

describe("SES reports", () => {
  const mail = {
    messageId: "0100-a-000000",
    destination: ["jane@example.com", "mary@example.com", "richard@example.com"],
    headers: [{ name: "Message-ID", value: "<0198c1f2@example.org>" }],
  };
  const bounce = (word: object, recipients: object[]) =>
    parseSesEvents({
      notificationType: "Bounce",
      mail,
      bounce: {
        bounceType: "Permanent",
        bounceSubType: "General",
        feedbackId: "f-1",
        timestamp: "2016-01-27T14:59:38.237Z",
        reportingMTA: "dns; email.example.com",
        bouncedRecipients: recipients,
        ...word,
      },
    });

  test("contain the reply of the destination to a bounce, for each recipient", () => {
    const reports = bounce({}, [
      {
        emailAddress: "jane@example.com",
        status: "5.1.1",
        action: "failed",
        diagnosticCode: "smtp; 550 5.1.1 <jane@example.com>... User",
      },
      { emailAddress: "richard@example.com" },
    ]);
    expect(reports).toEqual([
      {
        id: "f-1",
        kind: "bounced",
        verdict: "hard",
        recipients: ["jane@example.com"],
        providerId: "0100-a-000000",
        messageId: "0198c1f2@example.org",
        reply: { code: 550, enhanced: "5.1.1", text: "<jane@example.com>... User" },
        host: "email.example.com",
        appliesToAllRecipients: true,
        at: new Date("2016-01-27T14:59:38.237Z"),
      },
      expect.objectContaining({
        recipients: ["richard@example.com"],
        reply: { code: null, enhanced: null, text: "" },
      }),
    ]);
  });

  test.each([
    ["NoEmail", "5.1.1", "hard"],
    ["MailboxFull", "5.2.2", undefined],
    ["General", null, "hard"],
    ["Suppressed", null, "listed"],
    ["OnAccountSuppressionList", null, "listed"],
    ["UnsubscribedRecipient", null, "listed_unsubscribe"],
    ["constructor", null, undefined],
  ])("of the subtype %s have the enhanced code %s and are %s", (bounceSubType, enhanced, verdict) => {
    const status = /Supp/.test(bounceSubType) ? "5.1.1" : undefined;
    const [reports] = bounce({ bounceSubType }, [{ emailAddress: "a@example.com", status }]);
    expect(reports?.reply.enhanced).toBe(enhanced);
    expect(reports?.verdict).toBe(verdict);
    const [passing] = bounce({ bounceType: "Transient" }, [
      { emailAddress: "a@example.com", status: "4.4.7" },
    ]);
    expect(passing?.verdict).toBeUndefined();
  });

  test("of a subscription name the topics that the recipient no longer receives", () => {
    const changed = (newTopicPreferences: object, destination = ["jane@example.com"]) =>
      parseSesEvents({
        eventType: "Subscription",
        mail: { ...mail, destination },
        subscription: {
          contactList: "ContactListName",
          timestamp: "2022-01-12T01:00:17.910Z",
          source: "UnsubscribeHeader",
          newTopicPreferences,
        },
      });
    const topic = (topicName: string, subscriptionStatus: string) => ({ topicName, subscriptionStatus });
    const topicSubscriptionStatus = [topic("News", "OptOut"), topic("Offers", "OptIn")];
    expect(changed({ unsubscribeAll: false, topicSubscriptionStatus })).toMatchObject([
      {
        kind: "unsubscribed",
        recipients: ["jane@example.com"],
        lists: ["News"],
        appliesToAllRecipients: true,
      },
    ]);
    expect(changed({ unsubscribeAll: true, topicSubscriptionStatus })).toMatchObject([{ lists: [] }]);
    expect(changed({ unsubscribeAll: false, topicSubscriptionStatus: [topic("News", "OptIn")] })).toEqual([]);
    expect(changed({ unsubscribeAll: true }, mail.destination)[0]?.appliesToAllRecipients).toBe(false);
  });

  test("of an automatic reply are ignored, because it is not a bounce", () => {
    const word = { bounceType: "Transient", bounceSubType: "General" };
    expect(bounce(word, [{ emailAddress: "jane@example.com" }])).toEqual([]);
    expect(kindsOf(bounce(word, [{ emailAddress: "jane@example.com", status: "4.4.7" }]))).toEqual([
      "bounced",
    ]);
  });

  test("of a complaint are ambiguous if several recipients may have made it", () => {
    const complaint = (addresses: string[], more: object = {}) =>
      parseSesEvents({
        eventType: "Complaint",
        mail,
        complaint: {
          complainedRecipients: addresses.map((emailAddress) => ({ emailAddress })),
          feedbackId: "f-2",
          complaintFeedbackType: "abuse",
          ...more,
        },
      });
    expect(complaint(["richard@example.com"])).toMatchObject([
      { kind: "complained", appliesToAllRecipients: true },
    ]);
    expect(complaint(["a@example.com", "b@example.com"])).toMatchObject([
      { recipients: ["a@example.com"], appliesToAllRecipients: false },
      { recipients: ["b@example.com"], appliesToAllRecipients: false },
    ]);
    expect(complaint(["a@example.com"], { complaintFeedbackType: null })).toHaveLength(1);
    expect(complaint(["a@example.com"], { complaintFeedbackType: "not-spam" })).toEqual([]);
    const listed = { complaintSubType: "OnAccountSuppressionList", complaintFeedbackType: null };
    expect(complaint(["a@example.com"], listed)).toMatchObject([
      { kind: "bounced", verdict: "listed_complaint" },
    ]);
  });

  test("include deliveries, delays and rejections by SES; other events are ignored", () => {
    const delivery = {
      timestamp: "2016-01-27T14:59:38.237Z",
      recipients: ["jane@example.com"],
      smtpResponse: "250 ok:  Message 64111812 accepted",
      reportingMTA: "a8-70.smtp-out.amazonses.com",
    };
    expect(parseSesEvents({ notificationType: "Delivery", mail, delivery })).toMatchObject([
      {
        kind: "delivered",
        host: "a8-70.smtp-out.amazonses.com",
        reply: { code: 250, text: "ok:  Message 64111812 accepted" },
      },
    ]);
    expect(
      parseSesEvents({
        eventType: "DeliveryDelay",
        mail,
        deliveryDelay: {
          delayedRecipients: [
            {
              emailAddress: "a@example.com",
              status: "4.4.1",
              diagnosticCode: "smtp; 421 4.4.1 Unable to connect",
            },
          ],
        },
      }),
    ).toMatchObject([{ kind: "delayed", reply: { code: 421, enhanced: "4.4.1" } }]);
    expect(parseSesEvents({ eventType: "Reject", mail, reject: { reason: "Bad content" } })).toHaveLength(3);
    for (const eventType of ["Send", "Open", "Click", "Rendering Failure", "Subscription", "Bounce", "x"])
      expect(parseSesEvents({ eventType, mail, open: {}, send: {} })).toEqual([]);
    for (const odd of [null, [], "Successfully validated SNS topic", { mail: null }, { eventType: "Bounce" }])
      expect(parseSesEvents(odd)).toEqual([]);
  });
});
