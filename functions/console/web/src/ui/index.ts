// The shared components of the console. README.md of functions/console/web lists them.
export { Badge, Card, Chip, CodeBlock, CopyButton, DateTime, Facts, Figure, Meter, Pagination, Section, Tag } from './bits'
export { Button, IconButton, LinkButton, type ButtonProps } from './button'
export { Dialog, DialogActions, ConfirmDialog } from './dialog'
export { FavoriteButton } from './favorite'
export { Checkbox, Field, NumberField, RadioGroup, SearchField, Select, TextArea, TextField, type Choice, type FieldLook } from './field'
export { ago, fullDate, number, plural, words } from './format'
export { Icons } from './icons'
export { ActionMenu, Menu, type MenuEntry } from './menu'
export { ProductionMark, isProduction, useAskedSwitch, useUnasked } from './production'
export { EmptyState, ErrorState, Forbidden, Loaded, Loading, Notice, Skeleton } from './states'
export { useStoredNames } from './stored'
export { Switch } from './switch'
export { Table, sortRows, type Column, type Sort } from './table'
export { Tabs, type Tab } from './tabs'
export { toast } from './toasts'
export { Tooltip } from './tooltip'
// Larger components that only some pages need are imported from their own files, so that they stay out of the entry:
// combobox (Combobox, MultiCombobox), conflict (ConflictDialog), diffview (Diff).
