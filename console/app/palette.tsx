import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { useLocation } from 'wouter';
import { addressOfId } from '../client/ids.ts';
import type { Me } from '../client/me.ts';
import { TextField } from '../design/controls/fields.tsx';
import { Dialog } from '../design/feedback/dialog.tsx';
import classes from './app.module.css';
import { groupOf, SCREENS } from './screens.ts';

interface Target {
  path: string;
  title: string;
  note: string;
}

const MAX_SHOWN = 12;

const OF_ONE_THING = ':id';

const isOpen = (me: Me, address: string): boolean =>
  SCREENS.some(({ path, isFor }) => path.endsWith(OF_ONE_THING) && address.startsWith(path.slice(0, -OF_ONE_THING.length)) && isFor(me));

const targetsFor = (me: Me, text: string): readonly Target[] => {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const named = addressOfId(text.trim());
  const address = named !== undefined && isOpen(me, named) ? named : undefined;
  const screens = SCREENS.filter((screen) => screen.group && screen.isFor(me))
    .filter((screen) => words.every((word) => `${screen.title} ${screen.words ?? ''}`.toLowerCase().includes(word)))
    .map((screen) => ({ path: screen.path, title: screen.title, note: groupOf(screen, me) ?? '' }));
  return [...(address ? [{ path: address, title: text.trim(), note: 'Open by id' }] : []), ...screens].slice(0, MAX_SHOWN);
};

const reveal = (element: HTMLElement | null) => element?.scrollIntoView({ block: 'nearest' });

const Search = ({ me, onClose }: { me: Me; onClose: () => void }) => {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const [, navigate] = useLocation();
  const id = useId();
  const targets = targetsFor(me, text);

  const open = (target: Target | undefined) => {
    if (!target) return;
    onClose();
    navigate(target.path);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setAt((at + step + targets.length) % Math.max(1, targets.length));
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      open(targets[at]);
    }
  };

  return (
    <Dialog title="Go to" onClose={onClose}>
      <TextField
        label="Screen name, or an id such as req_…"
        value={text}
        onChange={(next) => {
          setText(next);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
        role="combobox"
        aria-expanded
        aria-controls={id}
        aria-activedescendant={targets[at] ? `${id}-${at}` : undefined}
        autoComplete="off"
        autoFocus
      />
      <div id={id} role="listbox" aria-label="Screens" className={classes.results} tabIndex={-1}>
        {targets.map((target, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the text field above handles the keys
          <div
            key={target.path}
            id={`${id}-${i}`}
            role="option"
            tabIndex={-1}
            aria-selected={i === at}
            ref={i === at ? reveal : undefined}
            className={classes.result}
            onClick={() => open(target)}
          >
            {target.title} <small>{target.note}</small>
          </div>
        ))}
      </div>
      <div role="status">{targets.length === 0 && <p>No screen has this name, and nothing that you can open has an id like this.</p>}</div>
    </Dialog>
  );
};

interface PaletteProps {
  me: Me;
  isOpen: boolean;
  onOpen: (isOpen: boolean) => void;
}

/** ⌘K or Ctrl-K: goes to a screen, or to the thing with an id. */
export const Palette = ({ me, isOpen, onOpen }: PaletteProps) => {
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      onOpen(!isOpen);
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [isOpen, onOpen]);
  return isOpen ? <Search me={me} onClose={() => onOpen(false)} /> : null;
};
