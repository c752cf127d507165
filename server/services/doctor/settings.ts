import { type DoctorDeps, failure, ok, type Results } from "./finding";

export const SETTINGS_ADVICE = "Correct these settings and restart Backstamp.";

/** Whether the settings are complete for production. */
export async function checkSettings({ settingsFault }: DoctorDeps): Promise<Results> {
  if (settingsFault === null) return [ok("All settings are valid.")];
  return [failure(settingsFault, SETTINGS_ADVICE)];
}
