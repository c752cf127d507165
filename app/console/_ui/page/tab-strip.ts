import { type RefObject, useEffect, useRef } from "react";

/** A line of tabs. It scrolls where it is wider than the screen, and fades at an edge that hides some. */
export const tabStripStyle =
  "flex gap-3.5 overflow-x-auto overflow-y-hidden shadow-[inset_0_-1px_var(--line)] [mask-image:linear-gradient(to_right,transparent,black_var(--hidden-left,0px),black_calc(100%-var(--hidden-right,0px)),transparent)] lg:gap-5 print:hidden";

const fade = "3rem";

function centerOf(element: Element): number {
  const { left, width } = element.getBoundingClientRect();
  return left + width / 2;
}

/** Keeps the selected child of such a line visible, also when the width of the screen changes. */
export function useTabStrip<Strip extends HTMLElement>(selected: number): RefObject<Strip | null> {
  const ref = useRef<Strip>(null);
  useEffect(() => {
    const strip = ref.current;
    if (!strip) return;
    const markEdges = () => {
      const hidden = strip.scrollWidth - strip.clientWidth;
      strip.style.setProperty("--hidden-left", strip.scrollLeft > 1 ? fade : "0px");
      strip.style.setProperty("--hidden-right", strip.scrollLeft < hidden - 1 ? fade : "0px");
    };
    const show = () => {
      const tab = strip.children[selected];
      if (tab) strip.scrollLeft += centerOf(tab) - centerOf(strip);
      markEdges();
    };
    const resizing = new ResizeObserver(show);
    resizing.observe(strip);
    strip.addEventListener("scroll", markEdges, { passive: true });
    return () => {
      resizing.disconnect();
      strip.removeEventListener("scroll", markEdges);
    };
  }, [selected]);
  return ref;
}
