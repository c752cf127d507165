import { readFile } from "node:fs/promises";
import type { Deps } from "#server/deps";
import { isRelay } from "#server/mail/transport/relay";
import { measureDiskSpace } from "#server/platform/disk";
import type { Listener, Settings } from "#server/platform/env/settings";
import type { DoctorDeps } from "#server/services/doctor/finding";
import { createExamination, type Examination, runDoctor } from "#server/services/doctor/run";
import { findFolderFault } from "./backup/backup-folder";
import { transportKindOf } from "./deps";
import { explainDatabaseFault } from "./install/database-faults";
import { findClusterHome } from "./postgres/cluster-location";
import { openTransport } from "./worker";

type Opened = Pick<DoctorDeps, "settingsFault" | "databaseFault" | "publicUrl" | "hasSecret"> & {
  deps: Deps;
  settings: Settings;
};

/** What the checks of the doctor need, from the settings of this process. */
export function createDoctorDeps({ deps, settings, ...facts }: Opened): DoctorDeps {
  const { smtpUrl, hostname, mxPort, trustedHops, inboundPort, host, submission, dataDir } = settings;
  const transport = openTransport(settings, deps);
  const { startTls, implicitTls, certificateFiles } = submission;
  const listenerOf = (setting: string, at: Listener | null, isImplicitTls = false) =>
    at === null || at.port === 0 ? [] : [{ setting, ...at, isImplicitTls }];
  return {
    ...deps,
    ...facts,
    explainDatabaseFault,
    findBackupFolderFault: async () => {
      const { folder } = settings.backup;
      return folder === null ? null : findFolderFault(folder);
    },
    isDevelopment: settings.mode === "dev",
    areBackupsPlain: settings.backup.folder !== null && settings.backup.passphrase === null,
    transportKind: transportKindOf(smtpUrl),
    smtpUrlRelay: isRelay(transport) ? transport : null,
    relayTimeouts: settings.smtpTimeLimits,
    ehloName: hostname,
    mxPort,
    trustedHops,
    listeners: [
      ...listenerOf("BACKSTAMP_INBOUND_PORT", inboundPort === null ? null : { host, port: inboundPort }),
      ...listenerOf("BACKSTAMP_SMTP_PORT", startTls),
      ...listenerOf("BACKSTAMP_SMTPS_PORT", implicitTls, true),
    ],
    readCertificate: certificateFiles && (() => readFile(certificateFiles.cert, "utf8")),
    ...(settings.databaseUrl === null && {
      readDisk: async () => measureDiskSpace(await findClusterHome(dataDir)),
    }),
    oidcIssuer: settings.oidc?.issuer ?? null,
    fetchJson: async (url, signal) => {
      const response = await fetch(url, { signal, redirect: "manual" });
      return { status: response.status, body: await response.json().catch(() => null) };
    },
  };
}

/**
 * The doctor of a web process with valid settings. `settings` are those of the operator: without a URL for
 * the embedded database.
 */
export function createConsoleDoctor(deps: Deps, settings: Settings): () => Promise<Examination> {
  const publicUrl = settings.databaseUrl === null ? settings.url : settings.givenUrl;
  const facts = { publicUrl, hasSecret: true, settingsFault: null, databaseFault: null };
  return createExamination(() => runDoctor(createDoctorDeps({ deps, settings, ...facts })), deps.clock);
}
