/** The inputs that Text Embeddings Inference takes in one request, unless it is started with another limit. */
export const MAX_TEI_INPUTS = 32;
