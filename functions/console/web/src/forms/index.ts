export { FormActions, FormError, useForm } from './useform'
