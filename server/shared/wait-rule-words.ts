import type { WaitRule } from "#db/schema/deliveries";

/**
 * Why a delivery waits, as text. `held` is an unknown outcome that waits for a decision by the caller or a
 * member.
 */
export const WAIT_RULES: Record<WaitRule | "held", string> = {
  retry_schedule: "The last attempt failed temporarily. The next attempt follows the retry schedule.",
  greylisted: "The destination uses greylisting: it defers unknown senders for a short time.",
  transport_fault:
    "The relay rejects the login or the connection. It is retried every 15 minutes until an operator fixes it. The email does not fail in the meantime.",
  lease_expired:
    "The worker's lease expired before the email was sent. The delivery is due again immediately.",
  unknown_retry: "The outcome of the last attempt is unknown. The team's policy is to send again.",
  no_transport:
    "Outgoing email is not configured. Attempts start when the operator adds a relay or sets SMTP_URL.",
  released: "The worker shut down before the attempt. The delivery is due again immediately.",
  destination_throttled:
    "Sending to this destination is throttled: it is slow, it reported a rate limit, or the operator limited it. The next attempt is due at the given time.",
  relay_paused:
    "Each relay for this email was paused: by the operator, or after faults of the relay, which is then tested once a minute. The email does not fail in the meantime.",
  daily_cap: "The daily cap of the sender's domain is reached. Sending continues on the next day (UTC).",
  warm_up:
    "The sender's domain is warming up and today's cap is reached. The next day (UTC) has a higher cap.",
  team_daily_cap:
    "The team's daily cap, set by the operator, is reached. Sending continues on the next day (UTC).",
  installation_paused:
    "The operator paused sending for the whole installation. The email stays queued and is sent after the operator resumes it.",
  team_paused:
    "Sending is paused for this team. The email stays queued and is sent after the operator resumes it.",
  team_deletion:
    "The team will be deleted. The email stays queued and is sent only if the deletion is canceled.",
  domain_paused:
    "Sending is paused for the sender's domain. The email stays queued and is sent after the operator resumes it.",
  restored:
    "The installation was restored from a backup. This email may have been sent after the backup was made, so it is held until an owner or the operator releases or cancels it.",
  held: "The outcome of the last attempt is unknown. The team's policy is to wait for a decision.",
};
