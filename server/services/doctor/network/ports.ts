import { X509Certificate } from "node:crypto";
import { createRelay } from "#server/mail/transport/relay";
import { dayMs } from "#server/shared/durations";
import { probeRelay } from "../../relays/connect";
import { feedbackAddressOf } from "../../returns/find";
import { type DoctorDeps, failure, notChecked, ok, probeMsMax, type Result, warning } from "../finding";

const expiryDaysMin = 14;
const anyAddress = ["0.0.0.0", "::", ""];

/** Whether the SMTP ports of this installation respond, and how long their certificate is valid. */
export async function checkPorts(deps: DoctorDeps): Promise<Result | Result[]> {
  const { listeners, readCertificate } = deps;
  if (listeners.length === 0) return notChecked("No SMTP port is set, for bounces or for submission.");
  const checks = listeners.map((listener) => checkListener(deps, listener));
  if (readCertificate) checks.push(checkCertificate(deps, readCertificate));
  return Promise.all(checks);
}

async function checkListener(
  { ehloName, names }: DoctorDeps,
  { setting, host, port, isImplicitTls }: DoctorDeps["listeners"][number],
): Promise<Result> {
  const subject = `${setting} ${port}`;
  const target = {
    host: anyAddress.includes(host) ? "127.0.0.1" : host,
    port,
    tls: isImplicitTls ? "implicit" : "opportunistic",
    verify: false,
    login: null,
    connectionsMax: 1,
  } as const;
  const fault = await probeRelay(() => createRelay(target, { name: ehloName }), probeMsMax);
  const feedback = setting === "BACKSTAMP_INBOUND_PORT" ? feedbackAddressOf(names) : null;
  const use = feedback === null ? "" : ` Register feedback loops with ${feedback}.`;
  if (fault === null) return ok(`Port ${port} accepts SMTP connections.${use}`, subject);
  return failure(
    `Port ${port} does not accept SMTP connections: ${fault.reason}`,
    "Start Backstamp, or run the doctor on the machine where it runs.",
    subject,
  );
}

async function checkCertificate({ clock }: DoctorDeps, read: () => Promise<string>): Promise<Result> {
  const subject = "BACKSTAMP_SMTP_TLS";
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(await read());
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return failure(
      `The certificate cannot be read: ${reason}`,
      "Set a PEM file that this user can read.",
      subject,
    );
  }
  const days = Math.floor((Date.parse(certificate.validTo) - clock().getTime()) / dayMs);
  const until = new Date(certificate.validTo).toISOString().slice(0, 10);
  const advice = "Renew it. Backstamp reads the new files within a minute, without a restart.";
  if (days < 0) return failure(`The certificate expired on ${until}.`, advice, subject);
  if (days < expiryDaysMin)
    return warning(`The certificate expires in ${days} days, on ${until}.`, advice, subject);
  return ok(`The certificate is valid until ${until}.`, subject);
}
