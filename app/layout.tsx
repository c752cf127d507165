import type { Metadata, Viewport } from "next";
import localFont from "next/font/local";
import { headers } from "next/headers";
import { ThemeProvider } from "next-themes";
import { NuqsAdapter } from "nuqs/adapters/next/app";
import type { ReactNode } from "react";
import { findInstallationFault } from "#server/trpc/installation/fault";
import { Unavailable } from "./unavailable";
import "./globals.css";

// Preloaded, with a fallback of equal metrics to avoid a layout shift. Non-Latin scripts use the system font.
const inter = localFont({
  src: "../node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2",
  weight: "100 900",
  variable: "--font-inter",
  display: "swap",
});

export const metadata: Metadata = {
  title: { default: "Backstamp", template: "%s · Backstamp" },
  robots: { index: false, follow: false },
};

export const viewport: Viewport = {
  themeColor: [
    { media: "(prefers-color-scheme: light)", color: "#ffffff" },
    { media: "(prefers-color-scheme: dark)", color: "#121215" },
  ],
};

/**
 * Reading the nonce makes every page dynamic. The CSP requires this: a static page could not contain the
 * nonce.
 */
export default async function RootLayout({ children }: { children: ReactNode }) {
  const nonce = (await headers()).get("x-nonce") ?? undefined;
  const fault = await findInstallationFault();
  return (
    // The theme class is set before hydration, so the server and client markup differ here.
    <html lang="en" className={inter.variable} suppressHydrationWarning>
      <body>
        <noscript>
          <p style={{ padding: "1rem", textAlign: "center" }}>
            The console needs JavaScript. Enable it for this site. The guides and the API work without it.
          </p>
        </noscript>
        <ThemeProvider attribute="class" disableTransitionOnChange {...(nonce ? { nonce } : {})}>
          <NuqsAdapter>{fault ? <Unavailable fault={fault} /> : children}</NuqsAdapter>
        </ThemeProvider>
      </body>
    </html>
  );
}
