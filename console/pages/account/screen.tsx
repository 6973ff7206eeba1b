import { useSignedIn } from '../../client/me.ts';
import { readAgain, useRead } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { Button } from '../../design/controls/button.tsx';
import { Table } from '../../design/data/table.tsx';
import { Chip, Time } from '../../design/data/values.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { Facts, Page, Section } from '../../design/layout/layout.tsx';

export const Screen = () => {
  const me = useSignedIn();
  const sessions = useRead('GET /v1/me/sessions', {});
  return (
    <Page title="Account" description={me.email}>
      <Section title="You" isCard>
        <Facts
          facts={[
            ['Role', me.role],
            ['Second factor', <Chip key="chip" state={me.second_factor} />],
          ]}
        />
      </Section>
      <Section title="Sessions">
        <Loaded query={sessions}>
          {({ data }) => (
            <Table
              label="Sessions"
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                { title: 'Begun', render: ({ created_at }) => <Time seconds={created_at} /> },
                {
                  title: '',
                  render: ({ id }) => (
                    <Button
                      onClick={async () => {
                        await request('DELETE /v1/me/sessions/{id}', { parameters: { id } });
                        await readAgain('/v1/me/sessions');
                      }}
                    >
                      End
                    </Button>
                  ),
                },
              ]}
            />
          )}
        </Loaded>
      </Section>
    </Page>
  );
};
