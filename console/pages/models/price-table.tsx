import { useRead } from '../../client/queries.ts';
import { Table } from '../../design/data/table.tsx';
import { Money } from '../../design/data/values.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';

/** The prices of the shared models, for those who can't see the models. */
export const PriceTable = () => (
  <Loaded query={useRead('GET /v1/pricing/serverless', {})}>
    {({ pricing }) =>
      pricing.length === 0 ? (
        <Empty title="No prices yet">
          <p>Prices appear here when the platform publishes a shared model.</p>
        </Empty>
      ) : (
        <Table
          label="Prices per million tokens"
          rows={pricing}
          keyOf={({ model }) => model}
          columns={[
            { title: 'Model', render: ({ model }) => model },
            { title: 'Input', isNumeric: true, render: ({ per_million }) => <Money amount={per_million.prompt} /> },
            { title: 'Cached input', isNumeric: true, render: ({ per_million }) => <Money amount={per_million.cached_prompt} /> },
            { title: 'Output', isNumeric: true, render: ({ per_million }) => <Money amount={per_million.completion} /> },
          ]}
        />
      )
    }
  </Loaded>
);
