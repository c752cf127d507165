import { readDeliveryState } from "#server/services/delivery-state";
import { router, signedIn } from "./init";

/** The installation itself, which belongs to no team. */
export const serviceRouter = router({
  delivery: signedIn.query(({ ctx }) => readDeliveryState(ctx.deps)),
});
