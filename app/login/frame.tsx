import type { ReactNode } from "react";
import { Brand } from "../console/_ui/shell/brand";

type FrameProps = { title: string; description?: ReactNode; children: ReactNode; footer?: ReactNode };

/** The layout of the sign-in pages: one card. */
export function SignInFrame({ title, description, children, footer }: FrameProps) {
  return (
    <main className="grid min-h-dvh place-items-center bg-sunk px-4 py-12">
      <div className="w-full max-w-sm">
        <div className="mb-6 flex justify-center">
          <Brand />
        </div>
        <div className="rounded-xl border border-line bg-page p-6 sm:p-8">
          <h1 className="font-semibold text-lg">{title}</h1>
          {description ? <p className="mt-1.5 text-soft leading-6">{description}</p> : null}
          <div className="mt-6">{children}</div>
        </div>
        {footer ? <div className="mt-5 text-center text-soft leading-6">{footer}</div> : null}
      </div>
    </main>
  );
}
