import { describe, expect, test } from '@jest/globals';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { templateOf } from '../../support/assembly/templates.ts';
import { namesOfFunctions, streamedPaths } from './host-template.ts';

const ondemand = templateOf('ondemand');
const serverless = templateOf('serverless');

describe('the on-demand host', () => {
  test('streams the routes of the inference function from its own functions', () => {
    expect(streamedPaths(ondemand)).toEqual([
      'POST /v1/chat/completions',
      'POST /v1/embeddings',
      'POST /v1/messages',
      'POST /v1/messages/count_tokens',
      'POST /v1/rerank',
      'POST /v1/responses',
      'POST /v2/rerank',
    ]);
    expect(namesOfFunctions(ondemand)).toEqual(['ondemand-catalog', 'ondemand-inference']);
    for (const SLUICE_FUNCTION of ['ondemand-inference', 'ondemand-catalog'])
      ondemand.hasResourceProperties('AWS::Lambda::Function', {
        Environment: { Variables: Match.objectLike({ SLUICE_FUNCTION, HOST_SCOPE: 'on_demand' }) },
      });
  });

  test.each(['Inference', 'Catalog'])('gives %s the same permissions as on the serverless host', (name) => {
    const grants = (stack: Template): { Action: string | string[]; Resource: unknown }[] => {
      const [, policy] = Object.entries(stack.findResources('AWS::IAM::Policy')).find(([id]) => id.startsWith(name)) ?? [];
      return policy?.Properties.PolicyDocument.Statement;
    };
    const isShared = ({ Action }: { Action: string | string[] }): boolean =>
      Action === 'lambda:InvokeFunction' || Action === 'sqs:SendMessage';
    const others = (stack: Template): unknown[] => grants(stack).filter((grant) => !isShared(grant));
    expect(others(ondemand)).toEqual(others(serverless));
    const shared = (stack: Template): [unknown, string[]][] =>
      grants(stack)
        .filter(isShared)
        .map(({ Action, Resource }) => [
          Action,
          [Resource]
            .flat()
            .map((resource) => /(Tokenizer|SettlementsQueue|PayloadsQueue|Deployments)/.exec(JSON.stringify(resource))?.[1] ?? ''),
        ]);
    const expected: [unknown, string[]][] = [
      ['sqs:SendMessage', ['PayloadsQueue', 'SettlementsQueue']],
      ['lambda:InvokeFunction', ['Deployments', 'Tokenizer']],
    ];
    for (const stack of [ondemand, serverless])
      expect(shared(stack).map(([action, resources]) => [action, resources.toSorted()])).toEqual(name === 'Inference' ? expected : []);
  });

  test('shares the tokenizer, and knows the URL of the serverless host without depending on its deployment', () => {
    const apiId = { 'Fn::ImportValue': expect.stringMatching(/^sluice-serverless:ExportsOutputRefHostApi/) };
    for (const { Properties } of Object.values(ondemand.findResources('AWS::Lambda::Function'))) {
      const { OTHER_HOST_URL, TOKENIZER_FUNCTION, SLUICE_FUNCTION } = Properties.Environment.Variables;
      expect(OTHER_HOST_URL).toEqual({
        'Fn::Join': ['', ['https://', apiId, '.execute-api.', { Ref: 'AWS::Region' }, '.', { Ref: 'AWS::URLSuffix' }, '/live']],
      });
      if (SLUICE_FUNCTION === 'ondemand-inference')
        expect(TOKENIZER_FUNCTION).toEqual({ 'Fn::ImportValue': expect.stringMatching(/^sluice-serverless:ExportsOutputRefTokenizer/) });
    }
    ondemand.hasOutput('OndemandUrl', {});
  });
});
