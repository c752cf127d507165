/**
 * An SMTP reply that rejects a command, in the form of the SMTP library. The text starts with the enhanced
 * status code.
 */
export const replyOf = (responseCode: number, message: string): Error =>
  Object.assign(new Error(message), { responseCode });
