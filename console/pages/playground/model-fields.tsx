import type { Choice } from '../../design/controls/choice.ts';
import { SelectField } from '../../design/controls/fields.tsx';
import { choiceOf, type Model } from './model-choice.ts';
import type { Chosen } from './send-turn.ts';

interface ModelFieldsProps {
  models: readonly Model[];
  chosen: Chosen;
  onChange: (change: { model?: string; with?: string }) => void;
}

const labelOf = ({ name, organization }: Model): string => (organization === null ? name : `${name} (deployment)`);

/** The model that answers, and another one to compare it with. */
export const ModelFields = ({ models, chosen, onChange }: ModelFieldsProps) => {
  const choices = models.map((model): Choice => [choiceOf(model), labelOf(model)]);
  return (
    <>
      <SelectField
        label="Model"
        value={chosen.model ? choiceOf(chosen.model) : ''}
        choices={chosen.model ? choices : [['', 'Choose a model'], ...choices]}
        onChange={(model) => onChange({ model })}
      />
      <SelectField
        label="Compare with"
        value={chosen.with ? choiceOf(chosen.with) : ''}
        choices={[['', 'No other model'], ...choices]}
        onChange={(choice) => onChange({ with: choice })}
      />
    </>
  );
};
