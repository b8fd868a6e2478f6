import { expect, test, unique } from './fixtures'

test('a project and its flags are read at the same time', async ({ page, api }) => {
  const id = unique('shop')
  const flag = unique('checkout')
  await api('POST', '/api/admin/projects', { id, name: id })
  await api('POST', `/api/admin/projects/${id}/features`, { name: flag })
  const listed = page.waitForRequest(`**/api/admin/projects/${id}/features`)
  await page.route(`**/api/admin/projects/${id}/overview`, async (route) => {
    await listed
    await route.continue()
  })
  await page.goto(`/projects/${id}`)
  await expect(page.getByRole('link', { name: flag })).toBeVisible()
  await expect(page.getByRole('columnheader', { name: /production/ })).toBeVisible()
})
