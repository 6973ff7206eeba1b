import { type KeyboardEvent, type ReactNode, useId, useRef } from 'react';
import { Button } from './button.tsx';
import classes from './controls.module.css';

interface MenuItem {
  label: string;
  onSelect: () => void;
  isDangerous?: boolean;
}

const GAP = 4;

/** Actions behind a button. Arrow keys move between them, Escape closes them. */
export const Menu = ({ label, items, children = '…' }: { label: string; items: readonly MenuItem[]; children?: ReactNode }) => {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);

  const place = () => {
    const [at, menu] = [button.current?.getBoundingClientRect(), list.current];
    if (!at || !menu) return;
    menu.style.top = `${Math.min(at.bottom + GAP, window.innerHeight - menu.offsetHeight - GAP)}px`;
    menu.style.left = `${Math.max(GAP, at.right - menu.offsetWidth)}px`;
    menu.querySelector('button')?.focus();
  };

  const move = (event: KeyboardEvent) => {
    const entries = [...(list.current?.querySelectorAll('button') ?? [])];
    const at = entries.indexOf(document.activeElement as HTMLButtonElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: entries.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    entries.at(to % entries.length)?.focus();
  };

  if (items.length === 0) return null;
  return (
    <>
      <Button ref={button} look="plain" popoverTarget={id} aria-label={label} aria-haspopup="menu">
        {children}
      </Button>
      <div
        ref={list}
        id={id}
        popover="auto"
        role="menu"
        aria-label={label}
        tabIndex={-1}
        className={classes.menu}
        onToggle={(event) => event.newState === 'open' && place()}
        onKeyDown={move}
      >
        {items.map(({ label: text, onSelect, isDangerous }) => (
          <button
            key={text}
            type="button"
            role="menuitem"
            className={classes['menu-item']}
            data-danger={isDangerous || undefined}
            onClick={() => {
              list.current?.hidePopover();
              onSelect();
            }}
          >
            {text}
          </button>
        ))}
      </div>
    </>
  );
};
