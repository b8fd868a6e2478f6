// Forms whose changes are undone by their message.
import { expect, noConsoleErrors, test, unique } from './fixtures'

test('settings, a default strategy and the order of environments are undone', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const messages = page.getByRole('region', { name: 'Messages' })
  const undo = async (text: string) => {
    await expect(messages.getByText(text)).toBeVisible()
    await messages.getByRole('button', { name: 'Undo' }).click()
    await expect(messages.getByText('Undone.', { exact: true })).toBeVisible()
  }
  const id = unique('shop')
  const flag = unique('checkout')
  await api('POST', '/api/admin/projects', { id, name: 'Shop' })
  await api('POST', `/api/admin/projects/${id}/features`, { name: flag, description: 'Before' })

  await page.goto(`/projects/${id}/flags/${flag}/settings`)
  const description = page.getByRole('textbox', { name: 'Description' })
  await description.fill('After')
  await page.getByRole('button', { name: 'Save settings' }).click()
  await undo(`${flag}: settings saved`)
  await expect(description).toHaveValue('Before')
  expect((await api('GET', `/api/admin/projects/${id}/features/${flag}`)).description).toBe('Before')

  await page.goto(`/projects/${id}/settings`)
  const name = page.getByLabel('Name (required)')
  await name.fill('Store')
  await page.getByRole('button', { name: 'Save settings' }).click()
  await undo('The settings are saved.')
  await expect(name).toHaveValue('Shop')
  expect((await api('GET', `/api/admin/projects/${id}/overview`)).name).toBe('Shop')

  // The first default strategy cannot be removed, so that it is not undone.
  await page.goto(`/projects/${id}/environments`)
  const percentages = ['30', '60']
  for (const percentage of percentages) {
    await page.getByRole('button', { name: /default strategy of production/ }).click()
    const dialog = page.getByRole('dialog', { name: 'Default strategy in production' })
    await dialog.getByRole('spinbutton', { name: 'Percentage' }).fill(percentage)
    await dialog.getByRole('button', { name: 'Save default strategy' }).click()
    await expect(dialog).toBeHidden()
    if (percentage === '30') await expect(messages.getByText('The default strategy in production is saved.')).toBeVisible()
    if (percentage === '30') await messages.getByRole('button', { name: 'Close message' }).click()
  }
  await undo('The default strategy in production is saved.')
  const { environments } = await api('GET', `/api/admin/environments/project/${id}`)
  expect(environments.find((one: { name: string }) => one.name === 'production').defaultStrategy.parameters.rollout).toBe('30')

  const order = async () => (await api('GET', '/api/admin/environments')).environments.map((one: { name: string }) => one.name)
  const before = await order()
  await page.goto('/environments')
  await page.getByRole('button', { name: `Move ${before[1]} up` }).click()
  await undo('The order is saved')
  expect(await order()).toEqual(before)
  check()
})
