throw new Error('this bundle cannot be loaded');
