import { TextField } from '../../design/controls/fields.tsx';

const MIN_CHARACTERS = 12;

const RULES: readonly (readonly [isMet: (text: string) => boolean, rule: string])[] = [
  [(text) => text.length >= MIN_CHARACTERS, `${MIN_CHARACTERS} characters`],
  [(text) => /\p{Ll}/u.test(text), 'a lowercase letter'],
  [(text) => /\p{Lu}/u.test(text), 'an uppercase letter'],
  [(text) => /\d/.test(text), 'a digit'],
  [(text) => /[^\p{L}\d]/u.test(text), 'a symbol'],
];

interface NewPasswordFieldProps {
  value: string;
  onChange: (value: string) => void;
  autoFocus?: boolean;
}

/** A new password, with what it still lacks. */
export const NewPasswordField = ({ value, onChange, autoFocus = false }: NewPasswordFieldProps) => {
  const missing = RULES.filter(([isMet]) => !isMet(value)).map(([, rule]) => rule);
  return (
    <TextField
      label="New password"
      type="password"
      value={value}
      onChange={onChange}
      autoComplete="new-password"
      autoFocus={autoFocus}
      hint={missing.length === 0 ? 'This password meets all requirements.' : `Still needs: ${missing.join(', ')}.`}
    />
  );
};
