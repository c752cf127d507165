import { operatorPage, operatorTitle } from "../operator-page";
import { DoctorPage } from "./doctor-page";

export const generateMetadata = operatorTitle("Doctor");

/** Checks of the installation and its surroundings, on demand. */
export default operatorPage("/console/installation/doctor", () => ({ page: <DoctorPage /> }));
