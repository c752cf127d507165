import type { Backstamp } from "./backstamp";
import type { DialogData } from "./dialog-list";
import { fillTeam } from "./pages";

/** The objects of `fillTeam`, and those that the dialogs need besides. */
export async function fillForDialogs(backstamp: Backstamp): Promise<DialogData> {
  const data = await fillTeam(backstamp);
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
  const html = "<p>Later</p>";
  const scheduled = await backstamp.send({
    to: "delivered@backstamp.test",
    subject: "Later",
    html,
    scheduled_at: inAnHour,
  });
  const bounced = await backstamp.send({ to: "bounced@backstamp.test", subject: "Bounced", html });
  const whole = ["key", "create", "--name", "Editor", "--scopes", "full_access", "--json"];
  const { token } = JSON.parse(await backstamp.operate(...whole));
  await backstamp.api("POST", `/templates/${data.template}/publish`, {}, token);
  await backstamp.api("PATCH", `/templates/${data.template}`, { subject: "Your new receipt" }, token);
  const bound = ["key", "create", "--name", "Bound", "--scopes", "sending_access", "--domains"];
  const { id: boundKey } = JSON.parse(
    await backstamp.operate(...bound, "backstamp.test,mail.example.com", "--json"),
  );
  await backstamp.operate("user", "create", "ben@backstamp.test", "--password", "a long enough password");
  await backstamp.operate("relay", "add", "main", "smtp://user:password@127.0.0.1:9");
  await backstamp.operate("queue", "pause", "--domain", "mail.example.com", "--reason", "Moving the DNS");
  return { ...data, scheduled, bounced, boundKey };
}
