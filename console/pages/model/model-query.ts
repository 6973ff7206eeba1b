interface Named {
  name: string;
  organization: string | null;
}

/** The query that selects a deployment's model instead of a shared one. */
export const modelQuery = ({ organization }: Named): { organization?: string } => (organization === null ? {} : { organization });

/** The parameters of the path of a model. */
export const parametersOf = ({ name }: Named): { readonly model: string } => ({ model: name });
