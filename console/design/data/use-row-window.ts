import { type RefObject, useEffect, useState } from 'react';
import { type RowWindow, rowWindow, WHOLE_ROWS } from './row-window.ts';

interface WindowedRows extends RowWindow {
  /** The height of a row, about; 0: the table is rendered whole. */
  rowPx: number;
}

const heightOfRow = (body: HTMLTableSectionElement): number => {
  const rows = [...body.rows].filter(({ ariaHidden }) => ariaHidden === null);
  const [top, bottom] = [rows.at(0)?.getBoundingClientRect().top ?? 0, rows.at(-1)?.getBoundingClientRect().bottom ?? 0];
  return (bottom - top) / Math.max(1, rows.length);
};

/**
 * The rows of a long table that are rendered, because a page with ten thousand of them would not react any more.
 * While a dialog is open they stay, because it can belong to one of them.
 */
export const useRowWindow = (body: RefObject<HTMLTableSectionElement | null>, count: number): WindowedRows => {
  const [shown, setShown] = useState<WindowedRows>({ first: 0, end: WHOLE_ROWS, rowPx: 0 });
  const isLong = count > WHOLE_ROWS;
  useEffect(() => {
    if (!isLong) return;
    let rowPx = 0;
    const look = (): void => {
      const { current } = body;
      if (!current || document.querySelector('dialog[open]')) return;
      rowPx ||= heightOfRow(current) || 1;
      const next = rowWindow({ count, rowPx, abovePx: -current.getBoundingClientRect().top, windowPx: innerHeight });
      setShown((was) => (was.first === next.first && was.end === next.end && was.rowPx === rowPx ? was : { ...next, rowPx }));
    };
    const measure = (): void => {
      rowPx = 0;
      look();
    };
    look();
    addEventListener('scroll', look, { passive: true, capture: true });
    addEventListener('resize', measure);
    return () => {
      removeEventListener('scroll', look, { capture: true });
      removeEventListener('resize', measure);
    };
  }, [body, count, isLong]);
  return isLong ? shown : { first: 0, end: count, rowPx: 0 };
};
