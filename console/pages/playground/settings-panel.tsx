import { useState } from 'react';
import type { Choice } from '../../design/controls/choice.ts';
import { CheckField, SelectField, TextArea, TextField } from '../../design/controls/fields.tsx';
import { Disclosure, Section, ShortFields, Stack } from '../../design/layout/layout.tsx';
import { changeSettings } from './conversation-store.ts';
import type { Model } from './model-choice.ts';
import { type Effort, faultsOf, type Settings } from './settings.ts';

const EFFORTS: readonly Choice<Effort | ''>[] = [
  ['', "The model's default"],
  ['none', 'None'],
  ['low', 'Low'],
  ['medium', 'Medium'],
  ['high', 'High'],
];

const NUMBERS = [
  ['temperature', 'Temperature', 'default_temperature'],
  ['topP', 'Top p', 'default_top_p'],
  ['maxTokens', 'Max tokens', 'default_output_tokens'],
] as const;

// Two models with different defaults have none in common.
const commonDefault = (models: readonly Model[], name: (typeof NUMBERS)[number][2]): string => {
  const [first] = models;
  return first && models.every((model) => model[name] === first[name]) ? String(first[name]) : 'default';
};

interface SettingsPanelProps {
  settings: Settings;
  models: readonly Model[];
}

const SettingsFields = ({ settings, models }: SettingsPanelProps) => {
  const withoutJson = models.filter(({ capabilities }) => !capabilities.json_object);
  return (
    <Stack>
      <TextArea
        label="System prompt"
        placeholder="You are a careful assistant."
        value={settings.system}
        onChange={(system) => changeSettings({ system })}
        rows={4}
      />
      <ShortFields>
        {NUMBERS.map(([name, label, ofModel]) => (
          <TextField
            key={name}
            label={label}
            value={settings[name]}
            onChange={(text) => changeSettings({ [name]: text.trim() })}
            fault={faultsOf(settings)[name]}
            placeholder={commonDefault(models, ofModel)}
            inputMode="decimal"
            autoComplete="off"
          />
        ))}
      </ShortFields>
      <TextArea
        label="Stop sequences"
        hint="One per line, up to 4."
        value={settings.stop}
        onChange={(stop) => changeSettings({ stop })}
        fault={faultsOf(settings).stop}
        rows={2}
        isCode
      />
      <SelectField label="Reasoning effort" value={settings.effort} choices={EFFORTS} onChange={(effort) => changeSettings({ effort })} />
      <CheckField
        label="JSON mode"
        hint={
          withoutJson.length > 0 ? `Not supported by ${withoutJson.map(({ name }) => name).join(' and ')}.` : 'The answer is a JSON object.'
        }
        checked={settings.isJson}
        disabled={models.length > 0 && withoutJson.length === models.length}
        onChange={(isJson) => changeSettings({ isJson })}
      />
    </Stack>
  );
};

// Narrower, they would push the conversation out of sight.
const WIDE = '(min-width: 64rem)';

/** The parts of each request that are no messages. */
export const SettingsPanel = (props: SettingsPanelProps) => {
  const [isWide] = useState(() => window.matchMedia(WIDE).matches);
  return isWide ? (
    <Section title="Settings" isCard>
      <SettingsFields {...props} />
    </Section>
  ) : (
    <Disclosure title="Settings">
      <SettingsFields {...props} />
    </Disclosure>
  );
};
