import { useState } from 'react';
import { SelectField } from '../design/controls/fields.tsx';

const STORED = 'sluice-theme';
const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

const stored = (): Theme => THEMES.find((theme) => theme === localStorage.getItem(STORED)) ?? 'system';

const apply = (theme: Theme): void => {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
};
apply(stored());

/** The colours of the console: those of the system, light or dark. */
export const ThemeChoice = () => {
  const [theme, setTheme] = useState(stored);
  return (
    <SelectField
      label="Theme"
      isLabelHidden
      value={theme}
      choices={[
        ['system', 'System theme'],
        ['light', 'Light theme'],
        ['dark', 'Dark theme'],
      ]}
      onChange={(chosen) => {
        localStorage.setItem(STORED, chosen);
        apply(chosen);
        setTheme(chosen);
      }}
    />
  );
};
