import { type DoctorDeps, failure, ok, type Results } from "./finding";

/** Whether the settings are complete for production. */
export async function checkSettings({ settingsFault }: DoctorDeps): Promise<Results> {
  if (settingsFault === null) return [ok("All settings are valid.")];
  return [failure(settingsFault, "Correct these settings and restart Backstamp.")];
}
