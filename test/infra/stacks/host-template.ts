import type { Template } from 'aws-cdk-lib/assertions';

/** The names of the functions that a stack has, in order. */
export const namesOfFunctions = (stack: Template): string[] =>
  Object.values(stack.findResources('AWS::Lambda::Function'))
    .map(({ Properties }) => Properties.Environment.Variables.SLUICE_FUNCTION)
    .sort();

const pathsOf = (stack: Template): ((id: string | undefined) => string) => {
  const resources = stack.findResources('AWS::ApiGateway::Resource');
  const pathOf = (id: string | undefined): string => {
    const found = id === undefined ? undefined : resources[id];
    return found ? `${pathOf(found.Properties.ParentId.Ref)}/${found.Properties.PathPart}` : '';
  };
  return pathOf;
};

/** The POST routes whose replies stream, as method and path, in order. */
export const streamedPaths = (stack: Template): string[] => {
  const pathOf = pathsOf(stack);
  return Object.values(stack.findResources('AWS::ApiGateway::Method'))
    .filter(({ Properties }) => Properties.Integration.ResponseTransferMode === 'STREAM')
    .map(({ Properties }) => `${Properties.HttpMethod} ${pathOf(Properties.ResourceId.Ref)}`)
    .sort();
};

/** The names of the functions that serve POST on paths of their own, by path. */
export const functionOfPosts = (stack: Template): Record<string, string> => {
  const pathOf = pathsOf(stack);
  const functions = stack.findResources('AWS::Lambda::Function');
  return Object.fromEntries(
    Object.values(stack.findResources('AWS::ApiGateway::Method'))
      .filter(({ Properties }) => Properties.HttpMethod === 'POST')
      .map(({ Properties }) => {
        const [, id = ''] = /"Fn::GetAtt":\["(\w+)"/.exec(JSON.stringify(Properties.Integration.Uri)) ?? [];
        return [pathOf(Properties.ResourceId.Ref), functions[id]?.Properties.Environment.Variables.SLUICE_FUNCTION];
      }),
  );
};
