import { afterAll } from '@jest/globals';
import { publishedModels } from './run.ts';
import './catalog.ts';
import './openai-fallbacks.ts';
import './structured-outputs.ts';

afterAll(publishedModels.close);
