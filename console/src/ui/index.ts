// The shared components of the console. README.md of console lists them.
export { Badge, Chip, CodeBlock, CopyButton, DateTime, Facts, Figure, Meter, Pagination, Section, Tag } from './bits'
export { Button, IconButton, LinkButton, type ButtonProps } from './button'
export { Dialog, DialogActions, DiscardDialog, ConfirmDialog, useConfirm } from './dialog'
export { FavoriteButton } from './favorite'
export { Checkbox, Field, NumberField, RadioGroup, SearchField, TextArea, TextField, type Choice, type FieldLook } from './field'
export { fullDate, useDates, zonedDate } from './dates'
export { ago, lastTime, listed, now, number, percent, plural, reportsNoted, usesNoted, words } from './format'
export { Icons } from './icons'
export { ActionMenu, Menu, type MenuEntry } from './menu'
export {
  ProductionMark,
  UnnamedProduction,
  environmentChoice,
  followsAtOnce,
  isProduction,
  productionText,
  useAsked,
  useAskedSwitch,
  useAsks,
  useUnasked,
} from './production'
export { Info, More, Popover } from './popover'
export { EmptyState, ErrorState, Forbidden, Loaded, Loading, Notice, Notices, Skeleton } from './states'
export { useStoredNames } from './stored'
export { Row } from './row'
export { Select } from './select'
export { Stepper, type Step } from './stepper'
export { Switch } from './switch'
export { Table, sortRows, type Column, type Sort } from './table'
export { Tabs, type Tab } from './tabs'
export { toast } from './toasts'
export { Tooltip } from './tooltip'
// Larger components that only some pages need are imported from their own files, so that they stay out of the entry:
// changes (Changes), combobox (Combobox, MultiCombobox), conflict (ConflictDialog), diffview (Diff, Value), filters (FilterBar).
