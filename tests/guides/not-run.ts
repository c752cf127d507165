const programs =
  "settings of an application; tests/product/interoperability/programs.test.ts sends with its library";

/**
 * The blocks of guides that no test executes or validates, with the reason. The key is the guide and the
 * first line.
 */
export const NOT_RUN: Record<string, string> = {
  "install: npm ci && npm run dev": "installs packages and starts processes; .ci/run does the same",
  "install: export BACKSTAMP_URL=http://localhost:3000 BACKSTAMP_KEY=re_...":
    "sets what the other samples read",
  "install: npm ci && npm run build": "builds; .ci/run does the same",
  "templates: export BACKSTAMP_URL=https://mail.example.com BACKSTAMP_KEY=re_...":
    "names files of a project; tests/startup/template-push.test.ts runs the command",
  "frameworks: // auth.js": "requires better-auth and its database",
  "frameworks: MAIL_MAILER=smtp":
    "settings, not a program; tests/product/interoperability/programs.test.ts sends with the library",
  "frameworks: import os":
    "settings, not a program; tests/product/interoperability/programs.test.ts sends with the library",
  'frameworks: config.action_mailer.default_options = { from: "Shop <orders@example.com>" }':
    "settings, not a program; tests/product/interoperability/programs.test.ts sends with the library",
  "frameworks: [auth.email.smtp]": "settings of Supabase, as its documentation names them",
  "containers: docker build --tag backstamp-embedded --target embedded .":
    "requires Docker; .ci/image carries out the steps",
  "containers: (umask 077; set -o noclobber": "requires Docker; tests/deploy checks compose.yaml",
  "containers: docker compose up --detach --scale worker=4":
    "requires Docker; tests/deploy checks compose.yaml",
  "systemd: folder=/opt/backstamp-$(date +%Y%m%d)":
    "installs a service as root; tests/product packs and starts the folder",
  "systemd: systemctl enable --now backstamp": "starts a service as root",
  "systemd: set -a; . /etc/backstamp.env; backstamp email list": "reads the settings of an installed service",
  'vercel: curl -fsS -H "Authorization: Bearer $CRON_SECRET" https://mail.example.com/api/cron/tick':
    "calls a deployment; tests/product/vercel calls the same route",
  "backup: BACKSTAMP_BACKUP_TO=/var/lib/backstamp-service/backups":
    "settings, not a program; their names are checked",
  "backup: rclone copy --exclude '*.partial' /var/lib/backstamp-service/backups store:my-bucket/backstamp":
    "calls other programs with a store; tests/product/backup writes the files that they copy",
  "migrating-ses: aws sesv2 list-suppressed-destinations | backstamp import suppressions - --from ses --dry-run":
    "calls Amazon; tests/services/imports reads such output",
  "security: AUTH_OIDC_ISSUER=https://id.example.com/realms/main":
    "settings, not a program; their names are checked",
  "smtp: BACKSTAMP_SMTP_PORT=2587": "settings, not a program; their names are checked",
  "smtp: cat > /etc/letsencrypt/renewal-hooks/deploy/backstamp <<'HOOK'": "installs a hook as root",
  'smtp-applications: { "mail": { "from": "Ann <ann@example.com>", "transport": "SMTP",': programs,
  'smtp-applications: EMAIL_HOST, EMAIL_PORT, EMAIL_USE_TLS = "mail.example.com", 2587, True': programs,
  "smtp-applications: config.action_mailer.delivery_method = :smtp": programs,
  "smtp-applications: MAIL_MAILER=smtp": programs,
  "smtp-applications: for setting in mail_smtpmode=smtp mail_smtphost=mail.example.com mail_smtpport=2465 mail_smtpsecure=ssl mail_smtpauth=1 \\":
    programs,
  "smtp-applications: <?php": programs,
  "smtp-applications: [mailer]": "settings of Gitea, as its documentation names them",
  "smtp-applications: relayhost = [mail.example.com]:2587": programs,
  "statistics: {": "a response; tests/rest/email-metrics.test.ts reads such ones",
  "smtp: import os":
    "names a public server; tests/product/interoperability/programs.test.ts sends with the same library",
  'metrics: curl -sS -H "Authorization: Bearer $BACKSTAMP_METRICS_TOKEN" http://127.0.0.1:9464/api/metrics':
    "calls a worker at its own port; tests/rest calls the same route",
  "several-machines: DATABASE_URL=postgres://backstamp:password@10.0.0.13:6432/backstamp":
    "settings, not a program; their names are checked",
  "several-machines: DATABASE_URL=postgres://backstamp:password@10.0.0.11:5432/backstamp":
    "settings, not a program; their names are checked",
  "upgrade: folder=/opt/backstamp-$(date +%Y%m%d)":
    "installs a service as root; tests/product packs the folder",
  "upgrade: docker compose build && docker compose run --rm migrate && docker compose up --detach":
    "requires Docker; tests/deploy checks compose.yaml",
};
