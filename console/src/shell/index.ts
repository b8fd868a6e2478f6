export { Page, type Crumb } from './page'
export { useUrlState } from './urlstate'
