import { useState } from 'react';
import { Button } from './button.tsx';
import classes from './controls.module.css';

const SHOWN_MS = 1_500;

// The browser can refuse it, and has no clipboard on a page that isn't secure.
const useCopy = (text: string): { outcome: 'copied' | 'not copied' | undefined; copy: () => void } => {
  const [outcome, setOutcome] = useState<'copied' | 'not copied'>();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setOutcome('copied');
      setTimeout(() => setOutcome(undefined), SHOWN_MS);
    } catch {
      setOutcome('not copied');
    }
  };
  return { outcome, copy: () => void copy() };
};

const WORDS = { copied: 'Copied', 'not copied': 'Not copied: the browser refused' } as const;

/** An id, which a click copies. */
export const CopyText = ({ text, label = text }: { text: string; label?: string }) => {
  const { outcome, copy } = useCopy(text);
  return (
    <button type="button" className={classes.copy} onClick={copy} title={`Copy ${text}`}>
      {label}
      <span aria-live="polite">{outcome && ` ${outcome}`}</span>
    </button>
  );
};

/** Copies a text that is not shown as it is, such as a table as CSV. */
export const CopyButton = ({ text, label }: { text: string; label: string }) => {
  const { outcome, copy } = useCopy(text);
  return (
    <Button onClick={copy}>
      <span aria-live="polite">{outcome ? WORDS[outcome] : label}</span>
    </Button>
  );
};

interface CodeProps {
  /** Names of the variants, such as languages, and their texts. */
  variants: readonly (readonly [name: string, text: string])[];
  /** The variant that is shown. */
  chosen?: string;
  onChoose?: (name: string) => void;
  label: string;
}

/** Code to copy, in several languages if there are several. */
export const Code = ({ variants, chosen, onChoose, label }: CodeProps) => {
  const [own, setOwn] = useState(variants[0]?.[0] ?? '');
  const name = chosen ?? own;
  const [, text = ''] = variants.find(([variant]) => variant === name) ?? variants[0] ?? [];
  const { outcome, copy } = useCopy(text);
  return (
    <figure className={classes.code} aria-label={label}>
      <div className={classes['code-head']}>
        <div>
          {variants.length > 1 &&
            variants.map(([variant]) => (
              <Button
                key={variant}
                look="plain"
                aria-pressed={variant === name}
                onClick={() => {
                  setOwn(variant);
                  onChoose?.(variant);
                }}
              >
                {variant}
              </Button>
            ))}
        </div>
        <Button look="plain" onClick={copy}>
          <span aria-live="polite">{outcome ? WORDS[outcome] : 'Copy'}</span>
        </Button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable text must be reachable by keyboard */}
      <pre tabIndex={0}>{text}</pre>
    </figure>
  );
};
