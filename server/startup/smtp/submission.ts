import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import type { Listener } from "#server/platform/env/settings";
import { errorFacts } from "#server/platform/log";
import { type Certificate, type SubmissionListener, startSubmission } from "#server/submission/listener";
import type { SubmissionDeps } from "#server/submission/receive";
import type { ConnectedSettings } from "../deps";
import { explainByCode, OperatorError } from "../launcher/operator-error";

/** How often the certificate files are read. Certificates are renewed days before they expire. */
const certificateCheckMs = 60_000;

/** The running SMTP servers for submission; a port is null if it is off. */
export type Submission = { port: number | null; securePort: number | null; close(): Promise<void> };

export type SubmissionSettings = Pick<ConnectedSettings, "submission" | "hostname">;

/**
 * Starts the configured SMTP servers for submission, and replaces their certificate when the files change. An
 * OperatorError explains an invalid certificate or an occupied port.
 */
export async function openSubmission(
  { submission: { startTls, implicitTls, certificateFiles }, hostname: name }: SubmissionSettings,
  deps: SubmissionDeps,
  checkMs = certificateCheckMs,
): Promise<Submission> {
  let certificate = certificateFiles && (await readCertificate(certificateFiles));
  const listeners: SubmissionListener[] = [];
  const close = async () => {
    clearInterval(timer);
    await Promise.all(listeners.map((listener) => listener.close()));
  };
  const listen = async (setting: string, at: Listener | null, isImplicitTls: boolean) => {
    if (at === null) return null;
    const options = { ...at, name, certificate, isImplicitTls };
    const listener = await startSubmission(deps, options).catch(async (error: NodeJS.ErrnoException) => {
      await close();
      throw explainByCode(error, {
        EADDRINUSE: `${setting}: Port ${at.port} is in use by another program. Stop that program, or set another port.`,
        EACCES: `${setting}: This user is not permitted to listen on port ${at.port}. Set a port above 1023 and forward the public port to it.`,
        EADDRNOTAVAIL: `${setting}: ${at.host} is not an address of this machine. Set one of its addresses.`,
      });
    });
    listeners.push(listener);
    deps.log.info("submission.ready", { port: listener.port, tls: describeTls(isImplicitTls, certificate) });
    return listener.port;
  };

  const renew = async (files: CertificateFiles) => {
    try {
      const found = await readCertificate(files);
      if (found.cert === certificate?.cert && found.key === certificate.key) return;
      certificate = found;
      for (const listener of listeners) listener.updateCertificate(found);
      deps.log.info("submission.certificate_renewed");
    } catch (error) {
      // A renewal writes two files: between them they do not match, and the next check reads both.
      deps.log.warn("submission.certificate_not_read", errorFacts(error));
    }
  };
  const timer = setInterval(() => certificateFiles && void renew(certificateFiles), checkMs).unref();
  return {
    port: await listen("BACKSTAMP_SMTP_PORT", startTls, false),
    securePort: await listen("BACKSTAMP_SMTPS_PORT", implicitTls, true),
    close,
  };
}

type CertificateFiles = { cert: string; key: string };

async function readCertificate(files: CertificateFiles): Promise<Certificate> {
  const read = (file: string) =>
    readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
      throw new OperatorError(
        `BACKSTAMP_SMTP_TLS: ${file} cannot be read (${error.code}). Set a file that this user can read.`,
      );
    });
  const [cert, key] = await Promise.all([read(files.cert), read(files.key)]);
  try {
    // An empty file, which is there for a moment while it is written, would be accepted without a
    // certificate.
    if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
      throw new Error("the key belongs to another certificate");
    createSecureContext({ cert, key });
  } catch (error) {
    const reason = error instanceof Error ? error.message : "invalid";
    throw new OperatorError(
      `BACKSTAMP_SMTP_TLS: ${files.cert} and ${files.key} are not a certificate chain and its private key in PEM format (${reason}).`,
    );
  }
  return { cert, key };
}

function describeTls(isImplicitTls: boolean, certificate: Certificate | null): string {
  if (isImplicitTls) return "implicit";
  return certificate ? "starttls" : "none";
}
