/**
 * True if API Gateway treats a body of this type as bytes.
 * @param mediaTypes the API's binary media types; `*` + `/*` matches every type
 * @param contentType the value of a content-type header, or the first type of an accept header
 */
export const isBinary = (mediaTypes: readonly string[], contentType: string): boolean => {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  return mediaTypes.some((candidate) => candidate === '*/*' || candidate.toLowerCase() === type);
};
