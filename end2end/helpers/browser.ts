// What a browser does besides showing a page: the requests it sends, and the page it brings back.
import type { Page } from '@playwright/test';

export function countSubmits(page: Page): () => number {
  return countRequests(page, '/submit');
}

export function countRequests(page: Page, end: string): () => number {
  let count = 0;
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith(end)) count += 1;
  });
  return () => count;
}

/** Playwright's Chromium keeps no back-forward cache, so the page is told what it would be told. */
export async function comeBackFromCache(page: Page): Promise<void> {
  await page.evaluate(() => window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })));
}
