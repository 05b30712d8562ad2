/** Brings the legal pages' style sheets; they have no script. */
import '#client/ui/page/brand.module.css';
import './legal.module.css';
