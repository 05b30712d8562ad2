/** The product's wordmark. */
import styles from './brand.module.css';

export function Brand() {
  return (
    <span className={styles.brand}>
      Hustle Forge
      <span className={styles.ember} aria-hidden="true">
        .
      </span>
    </span>
  );
}
