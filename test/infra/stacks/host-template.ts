import type { Template } from 'aws-cdk-lib/assertions';

/** The names of the functions that a stack has, in order. */
export const namesOfFunctions = (stack: Template): string[] =>
  Object.values(stack.findResources('AWS::Lambda::Function'))
    .map(({ Properties }) => Properties.Environment.Variables.SLUICE_FUNCTION)
    .sort();

/** The POST routes whose replies stream, as method and path, in order. */
export const streamedPaths = (stack: Template): string[] => {
  const resources = stack.findResources('AWS::ApiGateway::Resource');
  const pathOf = (id: string | undefined): string => {
    const found = id === undefined ? undefined : resources[id];
    return found ? `${pathOf(found.Properties.ParentId.Ref)}/${found.Properties.PathPart}` : '';
  };
  return Object.values(stack.findResources('AWS::ApiGateway::Method'))
    .filter(({ Properties }) => Properties.Integration.ResponseTransferMode === 'STREAM')
    .map(({ Properties }) => `${Properties.HttpMethod} ${pathOf(Properties.ResourceId.Ref)}`)
    .sort();
};
